// The visit: loads the SDK, makes the calls, waits until they are accepted, makes
// the last ones, and goes away as soon as the SDK has taken them.

// settled waits until the first n calls are accepted.
async function settled(n) {
  const answer = await fetch(`/settled?calls=${n}`);
  if (!answer.ok) throw new Error(await answer.text());
}

async function visit() {
  const job = await (await fetch('/job.json')).json();
  const page = await import('/sdk/page.js');
  const sdk = await page.open({...job, settled});
  const [calls, last] = sdk.speaksLast ? [job.calls, job.last] : [[...job.calls, ...job.last], []];
  for (const call of calls) await sdk.say(call);
  // What is under way by ordinary requests when a page goes away is lost.
  await settled(calls.length);
  if (last.length > 0) await sdk.rest?.();
  addEventListener('pagehide', () => navigator.sendBeacon('/left'));
  await Promise.all(last.map(sdk.say));
  if (job.tag.includes('close')) close();
  else location.href = '/bye.html';
}

visit().catch((err) => navigator.sendBeacon('/trouble', String(err?.stack ?? err)));
