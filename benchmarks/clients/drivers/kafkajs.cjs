// kafkajs. Its modules are found in UNDERSTUDY_NODE_MODULES.
const path = require('node:path');
const { Kafka, CompressionTypes, logLevel } = require(path.join(process.env.UNDERSTUDY_NODE_MODULES, 'kafkajs'));
const { TOPIC, GROUP, servers, pause, write, paced, consumed, run } = require('./writing.cjs');

const client = (clientId) => new Kafka({ clientId, brokers: servers, logLevel: logLevel.NOTHING });
const named = (error) => error.type || error.name;
const COMPRESSIONS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }; // it has no others of its own
const ACKS = { 0: 0, 1: 1, all: -1 };

async function produce(job) {
  const ordered = job.ordered && { maxInFlightRequests: 1, idempotent: job.idempotent };
  const producer = client(job.name ?? 'producer').producer({ ...ordered });
  await producer.connect();
  const how = { acks: ACKS[job.acks ?? 'all'], compression: COMPRESSIONS[job.compression ?? 'none'] };
  await paced(job, (messages) => producer.send({ topic: job.topic ?? TOPIC, ...how, messages }), named);
  await Promise.race([producer.disconnect(), pause(5000)]);
}

async function consume(job) {
  const times = job.session_ms && { sessionTimeout: job.session_ms, heartbeatInterval: job.heartbeat_ms };
  const consumer = client(job.name ?? 'consumer').consumer({ groupId: job.group ?? GROUP, ...times });
  consumer.on(consumer.events.CRASH, ({ payload }) => write(job, 'error', -1, named(payload.error)));
  let received = 0;
  const ending = consumed(job, () => received);
  await consumer.connect();
  await consumer.subscribe({ topic: job.topic ?? TOPIC, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      received += 1;
      write(job, 'received', Number(message.value));
    },
  });
  await ending;
  await Promise.race([consumer.disconnect(), pause(5000)]);
}

run({ produce, consume }, named);
