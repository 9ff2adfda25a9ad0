// kafkajs. Its modules are found in UNDERSTUDY_NODE_MODULES.
const path = require('node:path');
const { Kafka, logLevel } = require(path.join(process.env.UNDERSTUDY_NODE_MODULES, 'kafkajs'));

const TOPIC = 'orders';
const [role, servers, seconds, rate] = process.argv.slice(2);
const until = Date.now() + Number(seconds) * 1000;

function write(kind, record = -1, error = '') {
  process.stdout.write(JSON.stringify({ t_s: Date.now() / 1000, kind, record, error }) + '\n');
}

const client = (clientId) => new Kafka({ clientId, brokers: servers.split(','), logLevel: logLevel.NOTHING });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function produce() {
  const producer = client('producer').producer();
  await producer.connect();
  const began = Date.now();
  const waiting = new Set();
  let record = 0;
  while (Date.now() < until) {
    const due = ((Date.now() - began) / 1000) * Number(rate);
    const messages = [];
    for (; record < due; record += 1) messages.push(record);
    if (messages.length > 0) {
      const sent = producer
        .send({ topic: TOPIC, acks: -1, messages: messages.map((value) => ({ value: String(value) })) })
        .then(() => messages.forEach((one) => write('acked', one)))
        .catch((error) => messages.forEach((one) => write('failed', one, error.type || error.name)))
        .finally(() => waiting.delete(sent));
      waiting.add(sent);
    }
    await pause(5);
  }
  await Promise.race([Promise.all(waiting), pause(60000)]);
  await Promise.race([producer.disconnect(), pause(5000)]);
}

async function consume() {
  const consumer = client('consumer').consumer({ groupId: 'readers' });
  consumer.on(consumer.events.CRASH, ({ payload }) => write('error', -1, payload.error.type || payload.error.name));
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => write('received', Number(message.value)) });
  await pause(until - Date.now());
  await Promise.race([consumer.disconnect(), pause(5000)]);
}

({ produce, consume })[role]().then(() => process.exit(0), (error) => {
  write('error', -1, error.type || error.name);
  process.exit(1);
});
