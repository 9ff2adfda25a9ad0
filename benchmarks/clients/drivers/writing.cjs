// What the drivers in JavaScript share: their arguments or jobs, the history that they write, and the pace of a producer.
const readline = require('node:readline');
const [role, servers, seconds, rate] = process.argv.slice(2);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const AT_ONCE = 500; // records in a call of send, at most
let allowed = Infinity;
let ended = false;

function write(job, kind, record = -1, error = '') {
  process.stdout.write(JSON.stringify({ t_s: Date.now() / 1000, kind, record, error, name: job.name ?? '' }) + '\n');
}

// Sends what is due every five milliseconds in a call of its own, send([numbers]), and waits for none of them before the
// end. An `ordered` job has calls with the records of one partition each, or of all of them (`together`), waits for them
// before the next, and calls again where one fails.
async function paced(job, send, named) {
  const { seconds = Infinity, rate = Infinity, records = Infinity } = job;
  const began = Date.now();
  const waiting = new Set();
  let record = 0;
  while (Date.now() < began + seconds * 1000 && record < records) {
    const due = Math.min(((Date.now() - began + 1) / 1000) * rate, records, allowed, record + AT_ONCE);
    const numbers = [];
    for (; record < due; record += 1) numbers.push(record);
    if (numbers.length > 0) {
      const sent = Promise.all(calls(numbers).map(sending)).finally(() => waiting.delete(sent));
      waiting.add(sent);
      if (job.ordered) await sent;
    }
    if (!job.ordered || numbers.length === 0) await pause(5);
  }
  await Promise.race([Promise.all(waiting), pause(60000)]);

  function calls(numbers) {
    if (!job.ordered || job.together) return [numbers];
    const found = Array.from({ length: job.partitions }, (_, partition) => numbers.filter((one) => one % job.partitions === partition));
    return found.filter((each) => each.length > 0);
  }

  async function sending(numbers) {
    for (;;) {
      try {
        await send(numbers.map((one) => ({ value: String(one), ...(job.partitions && { partition: one % job.partitions }) })));
        return numbers.forEach((one) => write(job, 'acked', one));
      } catch (error) {
        numbers.forEach((one) => write(job, 'failed', one, named(error)));
        if (!job.ordered) return undefined;
        await pause(100);
      }
    }
  }
}

// The end of a consumer, whose client counts what it was given: its records, its seconds, or the end of all jobs.
async function consumed(job, received) {
  const { seconds = Infinity, records = Infinity } = job;
  const began = Date.now();
  while (Date.now() < began + seconds * 1000 && received() < records && !ended) await pause(20);
}

async function jobs(roles, named) {
  const running = [];
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [kind, ...words] = line.split(' ');
    if (kind === 'allow') {
      allowed = Number(words[0]);
      continue;
    }
    const job = Object.fromEntries(words.map((word) => word.split('=')));
    for (const key of ['records', 'partitions', 'session_ms', 'heartbeat_ms']) if (key in job) job[key] = Number(job[key]);
    for (const key of ['ordered', 'together', 'idempotent']) job[key] = job[key] === 'true';
    running.push(roles[kind](job).catch((error) => {
      write(job, 'error', -1, named(error));
      throw error;
    }));
  }
  ended = true;
  allowed = Infinity;
  await Promise.all(running);
}

function run(roles, named) {
  const job = { seconds: Number(seconds), rate: Number(rate) };
  const all = role === 'jobs' ? jobs(roles, named) : roles[role](job);
  all.then(() => process.exit(0), (error) => {
    write({}, 'error', -1, named(error));
    process.exit(1);
  });
}

module.exports = { TOPIC: 'orders', GROUP: 'readers', servers: servers.split(','), pause, write, paced, consumed, run };
