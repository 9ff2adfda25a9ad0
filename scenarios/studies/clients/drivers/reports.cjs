// The common part of drivers in JavaScript: the plan from standard input, the lines on standard output, and the end.
const path = require('node:path');
const readline = require('node:readline');
const modules = process.env.UNDERSTUDY_NODE_MODULES;

const COMMIT_MS = 300;
const LONGEST_END_MS = 300000; // the campaign itself was ended, and has not ended this process
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// The path in the folder that npm has installed into, which the user names.
const installed = (...names) => path.join(modules, ...names);

function say(seen, more = {}) {
  process.stdout.write(JSON.stringify({ seen, ...more }) + '\n');
}

class Driven {
  constructor(named) {
    this.named = named; // the name of an error
    this.goesOn = true;
  }

  // Says that the client is loaded, gets the plan and carries out its role.
  async run(client, roles) {
    say('ready', { client, version: require(installed(client, 'package.json')).version });
    const lines = readline.createInterface({ input: process.stdin });
    const plan = await new Promise((got) => lines.once('line', got));
    Object.assign(this, JSON.parse(plan));
    this.servers = this.settings['bootstrap.servers'].split(',');
    lines.once('close', () => {
      this.goesOn = false;
      setTimeout(() => process.exit(1), LONGEST_END_MS).unref();
    });
    await roles[this.role](this);
    process.exit(0);
  }

  error(error, more = {}) {
    say('error', { error: this.named(error), ...more });
  }

  // Whether what is sent has to stay in order: then a call of send is waited for before the next one of its partition.
  get inOrder() {
    return this.settings['enable.idempotence'] === true || this.settings['max.in.flight.requests.per.connection'] === 1;
  }

  // The numbers of the records that are due, an array for each look at the clock, until the end is asked for.
  async *due(size = 1) {
    const began = Date.now();
    for (let count = 0; this.goesOn; ) {
      const numbers = [];
      for (; count + size - 1 < ((Date.now() - began) / 1000) * this.rate; count += 1) numbers.push(count);
      if (numbers.length > 0) yield numbers;
      else await pause(2);
    }
  }

  // Sends what is due: send(partition, values) gives the offset of the first. Each call has records of one partition.
  async produce(send) {
    const queues = Array.from({ length: this.partitions }, () => []);
    const running = new Set();
    const busy = new Set();
    const begin = (partition, records) => {
      const call = this.sendAll(send, partition, records).finally(() => running.delete(call));
      running.add(call);
      return call;
    };
    const next = (partition) => {
      if (busy.has(partition) || queues[partition].length === 0) return;
      busy.add(partition);
      begin(partition, queues[partition].splice(0)).finally(() => {
        busy.delete(partition);
        next(partition);
      });
    };
    for await (const numbers of this.due()) {
      for (const number of numbers) {
        const record = `${this.name}-${number}`;
        const partition = number % this.partitions;
        say('sent', { record, partition });
        if (this.inOrder) queues[partition].push(record);
        else begin(partition, [record]);
      }
      queues.forEach((_, partition) => next(partition));
    }
    while (running.size > 0 || queues.some((each) => each.length > 0)) await pause(5);
  }

  // Sends records of one partition, and says what becomes of each. Raises: nothing.
  async sendAll(send, partition, records) {
    try {
      const offset = await send(partition, records);
      records.forEach((record, place) => say('acked', { record, partition, offset: offset < 0 ? -1 : offset + place }));
      return true;
    } catch (error) {
      records.forEach((record) => say('failed', { record, partition, error: this.named(error) }));
      return false;
    }
  }

  // Carries out transactions. ``begun`` gives one with send(partition, values), commit() and abort(), after waiting for
  // a producer of its own where there is none; ``over`` ends a producer that is of no more use.
  async transact(begun, over) {
    let waiting = [];
    let number = 0;
    for await (const numbers of this.due(this.records)) {
      waiting = waiting.concat(numbers);
      while (waiting.length >= this.records && this.goesOn) {
        number += 1;
        await this.carryOut(begun, over, number, waiting.splice(0, this.records));
      }
    }
  }

  async carryOut(begun, over, transaction, numbers) {
    let one;
    while (!one && this.goesOn) {
      try {
        one = await begun();
      } catch (error) {
        this.error(error);
        await over();
        await pause(200);
      }
    }
    if (!one) return;
    say('begun', { transaction });
    try {
      let all = true;
      for (const number of numbers) {
        const record = `${this.name}-${number}`;
        const partition = number % this.partitions;
        say('sent', { record, partition, transaction });
        all = (await this.sendAll(one.send, partition, [record])) && all;
      }
      if (all && transaction % this.aborted !== 0) {
        await one.commit();
        say('committed', { transaction });
      } else {
        await one.abort();
        say('aborted', { transaction });
      }
    } catch (error) {
      say('unknown', { transaction, error: this.named(error) });
      await over();
    }
  }

  // Commits what was read, every COMMIT_MS and at the end: commit([[partition, offset]]). ``over`` is the end of the
  // consumer, after which there is nothing to commit.
  async commits(read, commit, over) {
    let goesOn = true;
    over.then(() => { goesOn = false; });
    while (this.goesOn && goesOn) {
      await Promise.race([pause(COMMIT_MS), over]);
      if (goesOn) await Promise.race([this.commitNow(read, commit), over]);
    }
  }

  async commitNow(read, commit) {
    const offsets = [...read];
    if (offsets.length === 0) return;
    try {
      await commit(offsets);
      for (const [partition, offset] of offsets) {
        say('committed', { partition, offset });
        if (read.get(partition) === offset) read.delete(partition);
      }
    } catch (error) {
      this.error(error, { error: `commit ${this.named(error)}` });
    }
  }
}

module.exports = { Driven, installed, pause, say };
