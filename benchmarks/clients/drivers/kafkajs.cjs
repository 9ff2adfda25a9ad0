// kafkajs. Its modules are found in UNDERSTUDY_NODE_MODULES.
const path = require('node:path');
const { Kafka, logLevel } = require(path.join(process.env.UNDERSTUDY_NODE_MODULES, 'kafkajs'));
const { TOPIC, GROUP, servers, seconds, pause, write, paced, run } = require('./writing.cjs');

const client = (clientId) => new Kafka({ clientId, brokers: servers, logLevel: logLevel.NOTHING });
const named = (error) => error.type || error.name;

async function produce() {
  const producer = client('producer').producer();
  await producer.connect();
  await paced((numbers) => {
    const messages = numbers.map((value) => ({ value: String(value) }));
    return producer.send({ topic: TOPIC, acks: -1, messages });
  }, named);
  await Promise.race([producer.disconnect(), pause(5000)]);
}

async function consume() {
  const began = Date.now();
  const consumer = client('consumer').consumer({ groupId: GROUP });
  consumer.on(consumer.events.CRASH, ({ payload }) => write('error', -1, named(payload.error)));
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => write('received', Number(message.value)) });
  await pause(began + seconds * 1000 - Date.now());
  await Promise.race([consumer.disconnect(), pause(5000)]);
}

run({ produce, consume }, named);
