// The driver of @platformatic/kafka. It counts the sequence of an idempotent producer when a call has succeeded, so calls
// of one partition wait for each other there.
import { pathToFileURL } from 'node:url';
import reports from './reports.cjs';

const { Driven, installed, pause, say } = reports;
const NAME = '@platformatic/kafka';
const { Consumer, Producer, MessagesStreamFallbackModes, MessagesStreamModes, stringDeserializers, stringSerializers } =
  await import(pathToFileURL(installed(NAME, 'dist', 'index.js')));
const ACKS = { all: -1, 1: 1, 0: 0 };
const COMMITTED = 1;

// The innermost error says what it was; the outer ones say that there were several.
function named(error) {
  const inner = error.errors?.at(-1) ?? error.cause;
  return inner ? named(inner) : error.apiId || error.code || error.name;
}

const driven = new Driven(named);

function base() {
  const { name, servers, settings } = driven;
  const inFlight = settings['max.in.flight.requests.per.connection'];
  const patience = settings['request.timeout.ms'];
  return {
    clientId: name, bootstrapBrokers: servers,
    ...(inFlight && { maxInflights: inFlight }), ...(patience && { requestTimeout: patience }),
  };
}

const first = (written) => (written.offsets?.length > 0 ? Number(written.offsets[0].offset) : -1);

async function produce() {
  const { settings, topic } = driven;
  const producer = new Producer({ ...base(), serializers: stringSerializers, idempotent: settings['enable.idempotence'] });
  const acks = ACKS[settings.acks];
  await driven.produce(async (partition, values) => {
    return first(await producer.send({ acks, messages: values.map((value) => ({ topic, partition, value })) }));
  });
  await Promise.race([producer.close(), pause(5000)]);
}

async function transact() {
  const { settings, topic } = driven;
  let producer = null;
  await driven.transact(
    async () => {
      producer ??= new Producer({
        ...base(), serializers: stringSerializers, idempotent: true, transactionalId: settings['transactional.id'],
        timeout: settings['transaction.timeout.ms'], // it has no other one for transactions
      });
      const one = await producer.beginTransaction();
      return {
        send: async (partition, values) => {
          return first(await one.send({ messages: values.map((value) => ({ topic, partition, value })) }));
        },
        commit: () => one.commit(),
        abort: () => one.abort(),
      };
    },
    async () => {
      await Promise.race([producer?.close(true).catch(() => {}), pause(1000)]);
      producer = null;
    },
  );
  await Promise.race([producer?.close(), pause(5000)]);
}

// A stream that an error has ended stays so: the application begins a consumer again, as it has to.
async function consume() {
  while (driven.goesOn) {
    try {
      await consumeOnce();
    } catch (error) {
      driven.error(error);
      await pause(200);
    }
  }
}

async function consumeOnce() {
  const { settings, topic } = driven;
  const read = new Map();
  const consumer = new Consumer({
    ...base(), groupId: settings['group.id'], deserializers: stringDeserializers,
    sessionTimeout: settings['session.timeout.ms'], heartbeatInterval: settings['heartbeat.interval.ms'],
  });
  try {
    consumer.on('error', (error) => driven.error(error));
    consumer.on('consumer:group:rebalance', () => {
      read.clear();
      say('revoked', { partitions: [] });
    });
    consumer.on('consumer:group:join', ({ assignments }) => {
      read.clear();
      say('assigned', { partitions: (assignments ?? []).flatMap((one) => one.partitions) });
    });
    const stream = await consumer.consume({
      topics: [topic], autocommit: false, isolationLevel: settings['isolation.level'] === 'read_committed' ? COMMITTED : 0,
      mode: MessagesStreamModes.COMMITTED, fallbackMode: MessagesStreamFallbackModes.EARLIEST,
    });
    stream.on('data', ({ value, partition, offset }) => {
      say('received', { record: value, partition, offset: Number(offset) });
      read.set(partition, Number(offset) + 1);
    });
    const ended = new Promise((over) => {
      stream.on('error', (error) => {
        driven.error(error);
        over();
      });
    });
    await driven.commits(read, (offsets) => consumer.commit({
      offsets: offsets.map(([partition, offset]) => ({ topic, partition, offset: BigInt(offset), leaderEpoch: -1 })),
    }), ended);
  } finally {
    await Promise.race([consumer.close(true).catch((error) => driven.error(error)), pause(5000)]);
  }
}

driven.run(NAME, { produce, transact, consume });
