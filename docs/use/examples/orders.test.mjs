// Does my producer survive its leader? With Node's own test runner and kafkajs:
//   pip install understudy; npm install kafkajs; node --test orders.test.mjs
// UNDERSTUDY names the command, where it is not on the path.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

const require = createRequire(process.env.NODE_MODULES_OF ?? import.meta.url);
const { Kafka, logLevel } = require('kafkajs');

const [command, ...words] = (process.env.UNDERSTUDY ?? 'understudy').split(' ');
const folder = mkdtempSync(join(tmpdir(), 'orders-'));
const scenario = join(folder, 'orders.toml');
writeFileSync(scenario, `
title = "orders"
attached = ["billing"]
[cluster]
brokers = 3
config = { "min.insync.replicas" = 2 }
[[topics]]
name = "orders"
assignment = [[0, 1, 2]]
`);

let served;
let cluster;

// Serve, and wait until clients can connect.
before(async () => {
  const ready = join(folder, 'ready.json');
  const options = ['--ready-file', ready, '--rate', '4', '--record', join(folder, 'run'), '--quiet'];
  served = spawn(command, [...words, 'serve', scenario, ...options], { stdio: 'inherit' });
  while (!existsSync(ready)) await pause(50);
  cluster = JSON.parse(readFileSync(ready, 'utf8'));
});

// Stop it. It ends with 0 unless a checker found something: then "understudy replay" shows the run again.
after(async () => {
  const ended = new Promise((done) => served.on('exit', done));
  ctl('stop');
  assert.equal(await ended, 0, `understudy replay ${join(folder, 'run')}`);
});

const ctl = (...action) =>
  execFileSync(command, [...words, 'ctl', '--control', cluster.control, ...action], { encoding: 'utf8' });

test('no acknowledged order is lost when the leader dies', async () => {
  const kafka = new Kafka({
    clientId: 'billing', brokers: cluster.bootstrap_servers.split(','), logLevel: logLevel.NOTHING,
    retry: { retries: 30, maxRetryTime: 1000 },
  });
  const producer = kafka.producer();
  await producer.connect();
  const send = (from, to) =>
    Promise.all(Array.from({ length: to - from }, (_, index) =>
      producer.send({ topic: 'orders', acks: -1, messages: [{ value: `order ${from + index}` }] })));

  await send(0, 50);
  const sent = send(50, 100);
  ctl('crash', 'leader(orders-0)');
  await sent;
  await producer.disconnect();

  const [log] = JSON.parse(ctl('state', 'orders-0', '--format', 'json')).partitions;
  assert.notEqual(log.leader, 0);
  assert.ok(Math.max(...log.logs.map((one) => one.high_watermark)) >= 100);
});
