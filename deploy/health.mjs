/** Asks the program in this container how it is: exit 0 when it answers 200. `health.mjs healthz` or `health.mjs readyz`, then the address if it is another. */
const [path = 'healthz', address = '127.0.0.1:8055'] = process.argv.slice(2);
try {
  const answer = await fetch(`http://${address}/${path}`, { signal: AbortSignal.timeout(2500) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
