// What the drivers in JavaScript share: their arguments, the history that they write, and the pace of a producer.
const [role, servers, seconds, rate] = process.argv.slice(2);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function write(kind, record = -1, error = '') {
  process.stdout.write(JSON.stringify({ t_s: Date.now() / 1000, kind, record, error }) + '\n');
}

// Sends what is due every five milliseconds in a call of its own, send([numbers]), and waits for none of them before the end.
async function paced(send, named) {
  const began = Date.now();
  const waiting = new Set();
  let record = 0;
  while (Date.now() < began + Number(seconds) * 1000) {
    const due = ((Date.now() - began) / 1000) * Number(rate);
    const numbers = [];
    for (; record < due; record += 1) numbers.push(record);
    if (numbers.length > 0) {
      const sent = send(numbers)
        .then(() => numbers.forEach((one) => write('acked', one)))
        .catch((error) => numbers.forEach((one) => write('failed', one, named(error))))
        .finally(() => waiting.delete(sent));
      waiting.add(sent);
    }
    await pause(5);
  }
  await Promise.race([Promise.all(waiting), pause(60000)]);
}

function run(roles, named) {
  roles[role]().then(() => process.exit(0), (error) => {
    write('error', -1, named(error));
    process.exit(1);
  });
}

module.exports = { TOPIC: 'orders', GROUP: 'readers', servers: servers.split(','), seconds: Number(seconds), pause, write, paced, run };
