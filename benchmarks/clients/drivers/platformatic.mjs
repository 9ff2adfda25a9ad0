// @platformatic/kafka. Its modules are found in UNDERSTUDY_NODE_MODULES.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import writing from './writing.cjs';

const { TOPIC, GROUP, servers, pause, write, paced, consumed, run } = writing;
const entry = path.join(process.env.UNDERSTUDY_NODE_MODULES, '@platformatic', 'kafka', 'dist', 'index.js');
const { Consumer, Producer, MessagesStreamFallbackModes, MessagesStreamModes, stringDeserializers, stringSerializers } = await import(
  pathToFileURL(entry)
);
const ACKS = { 0: 0, 1: 1, all: -1 };

// The innermost error says what it was; the outer ones say that there were several.
function named(error) {
  const inner = error.errors?.at(-1) ?? error.cause;
  return inner ? named(inner) : error.apiId || error.code || error.name;
}

async function produce(job) {
  const producer = new Producer({
    clientId: job.name ?? 'producer', bootstrapBrokers: servers, serializers: stringSerializers,
    ...(job.idempotent && { idempotent: true }),
  });
  const how = { acks: ACKS[job.acks ?? 'all'], ...(job.compression && { compression: job.compression }) };
  await paced(job, (messages) => {
    return producer.send({ ...how, messages: messages.map((one) => ({ topic: job.topic ?? TOPIC, ...one })) });
  }, named);
  await Promise.race([producer.close(), pause(5000)]);
}

// A stream that an error has ended stays so; a job begins the consumer again, as an application has to.
async function consume(job) {
  let received = 0;
  const ending = consumed(job, () => received);
  let done = false;
  ending.then(() => { done = true; });
  do {
    const consumer = member(job);
    consumer.on('error', (error) => write(job, 'error', -1, named(error)));
    const stream = await consumer.consume({
      topics: [job.topic ?? TOPIC], fallbackMode: MessagesStreamFallbackModes.EARLIEST,
      ...(job.group && { mode: MessagesStreamModes.COMMITTED }), // by itself it begins at the end, whatever is committed
    });
    stream.on('data', (message) => {
      received += 1;
      write(job, 'received', Number(message.value));
    });
    const ended = new Promise((over) => {
      stream.on('error', (error) => {
        write(job, 'error', -1, named(error));
        if (job.group) over();
      });
    });
    await Promise.race([ending, ended]);
    const closed = consumer.close(true);
    await Promise.race([job.group ? closed.catch((error) => write(job, 'error', -1, named(error))) : closed, pause(5000)]);
  } while (!done);
}

function member(job) {
  const times = job.session_ms && { sessionTimeout: job.session_ms, heartbeatInterval: job.heartbeat_ms };
  return new Consumer({
    clientId: job.name ?? 'consumer', groupId: job.group ?? GROUP, bootstrapBrokers: servers,
    deserializers: stringDeserializers, ...times,
  });
}

run({ produce, consume }, named);
