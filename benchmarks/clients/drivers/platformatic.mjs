// @platformatic/kafka. Its modules are found in UNDERSTUDY_NODE_MODULES.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import writing from './writing.cjs';

const { TOPIC, GROUP, servers, seconds, pause, write, paced, run } = writing;
const entry = path.join(process.env.UNDERSTUDY_NODE_MODULES, '@platformatic', 'kafka', 'dist', 'index.js');
const { Consumer, Producer, MessagesStreamFallbackModes, stringDeserializers, stringSerializers } = await import(
  pathToFileURL(entry)
);

// The innermost error says what it was; the outer ones say that there were several.
function named(error) {
  const inner = error.errors?.at(-1) ?? error.cause;
  return inner ? named(inner) : error.apiId || error.code || error.name;
}

async function produce() {
  const producer = new Producer({ clientId: 'producer', bootstrapBrokers: servers, serializers: stringSerializers });
  await paced((numbers) => {
    const messages = numbers.map((one) => ({ topic: TOPIC, value: String(one) }));
    return producer.send({ acks: -1, messages });
  }, named);
  await Promise.race([producer.close(), pause(5000)]);
}

async function consume() {
  const began = Date.now();
  const consumer = new Consumer({
    clientId: 'consumer', groupId: GROUP, bootstrapBrokers: servers, deserializers: stringDeserializers,
  });
  consumer.on('error', (error) => write('error', -1, named(error)));
  const stream = await consumer.consume({ topics: [TOPIC], fallbackMode: MessagesStreamFallbackModes.EARLIEST });
  stream.on('data', (message) => write('received', Number(message.value)));
  stream.on('error', (error) => write('error', -1, named(error)));
  await pause(began + seconds * 1000 - Date.now());
  await Promise.race([consumer.close(true), pause(5000)]);
}

run({ produce, consume }, named);
