// The driver of kafkajs. A call of its send with records of several partitions can lose those of one (tulios/kafkajs#1303),
// so each call here has records of one.
const { Driven, installed, pause, say } = require('./reports.cjs');
const { Kafka, logLevel } = require(installed('kafkajs'));

const ACKS = { all: -1, 1: 1, 0: 0 };
const driven = new Driven((error) => error.type || error.name);

function client() {
  const { servers, name, settings } = driven;
  return new Kafka({
    clientId: name, brokers: servers, logLevel: logLevel.NOTHING,
    ...(settings['request.timeout.ms'] && { requestTimeout: settings['request.timeout.ms'] }),
  });
}

// What has connected. Its first look for a broker may fail while the cluster is in trouble: it looks again.
async function connected(made) {
  for (;;) {
    try {
      await made.connect();
      return made;
    } catch (error) {
      driven.error(error);
      await pause(200);
    }
  }
}

const first = (written) => (written?.length > 0 && written[0].baseOffset !== undefined ? Number(written[0].baseOffset) : -1);
const messages = (partition, values) => values.map((value) => ({ partition, value }));

async function produce() {
  const { settings, topic } = driven;
  const inFlight = settings['max.in.flight.requests.per.connection'];
  const producer = await connected(client().producer({
    idempotent: settings['enable.idempotence'], ...(inFlight && { maxInFlightRequests: inFlight }),
  }));
  const acks = ACKS[settings.acks];
  await driven.produce(async (partition, values) => {
    return first(await producer.send({ topic, acks, messages: messages(partition, values) }));
  });
  await Promise.race([producer.disconnect(), pause(5000)]);
}

async function transact() {
  const { settings, topic } = driven;
  let producer = null;
  await driven.transact(
    async () => {
      producer ??= await connected(client().producer({
        transactionalId: settings['transactional.id'], transactionTimeout: settings['transaction.timeout.ms'],
        idempotent: true, maxInFlightRequests: 1,
      }));
      const one = await producer.transaction();
      return {
        send: async (partition, values) => first(await one.send({ topic, messages: messages(partition, values) })),
        commit: () => one.commit(),
        abort: () => one.abort(),
      };
    },
    async () => {
      await Promise.race([producer?.disconnect().catch(() => {}), pause(1000)]);
      producer = null;
    },
  );
  await Promise.race([producer?.disconnect(), pause(5000)]);
}

// A crash after which the client does not start again by itself: the application begins another consumer, as it has to.
async function consume() {
  do await consumeOnce();
  while (driven.goesOn);
}

async function consumeOnce() {
  const { settings, topic } = driven;
  const read = new Map();
  const consumer = client().consumer({
    groupId: settings['group.id'], readUncommitted: settings['isolation.level'] === 'read_uncommitted',
    sessionTimeout: settings['session.timeout.ms'], heartbeatInterval: settings['heartbeat.interval.ms'],
  });
  const crashed = new Promise((over) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      driven.error(payload.error);
      if (!payload.restart) over();
    });
  });
  consumer.on(consumer.events.REBALANCING, () => {
    read.clear();
    say('revoked', { partitions: [] });
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    read.clear();
    say('assigned', { partitions: [...(payload.memberAssignment[topic] ?? [])].sort() });
  });
  await connected(consumer);
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      say('received', { record: message.value.toString(), partition, offset: Number(message.offset) });
      read.set(partition, Number(message.offset) + 1);
    },
  });
  await driven.commits(read, (offsets) => {
    return consumer.commitOffsets(offsets.map(([partition, offset]) => ({ topic, partition, offset: String(offset) })));
  }, crashed);
  await Promise.race([consumer.disconnect().catch((error) => driven.error(error)), pause(5000)]);
}

driven.run('kafkajs', { produce, transact, consume });
