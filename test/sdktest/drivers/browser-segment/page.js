// Segment's analytics.js, in the bundle of its npm package.

// flushAfter is how long a batch waits for more, in milliseconds.
const flushAfter = 2000;

export async function open(job) {
  const {sdk, mode, tag} = job;
  const {protocol} = new URL(job.endpoint);
  await script(`/sdk/node_modules/${sdk}/dist/umd/index.js`);
  const credentials = tag.includes('credentials') ? 'include' : undefined;
  const segment = {
    protocol: protocol.slice(0, -1),
    deliveryStrategy: mode !== 'each'
      ? {strategy: 'batching', config: {timeout: flushAfter, credentials}}
      : {config: {credentials}},
  };
  const AnalyticsBrowser = {
    load: (settings) => window.AnalyticsNext.AnalyticsBrowser.load(settings, {integrations: {'Segment.io': segment}}),
  };
  // snippet:begin
  const [analytics] = await AnalyticsBrowser.load({
    writeKey: job.writeKey,
    cdnURL: job.endpoint,
  });
  // snippet:end
  let known = '';
  const say = (call) => {
    const user = `${call.userId} ${call.anonymousId}`;
    if (user !== known) become(analytics, call);
    known = user;
    return calls[call.type](analytics, call, options(call));
  };
  // What waits for its batch goes out with `keepalive`. A single call under way is
  // kept, and sent once more by the next page.
  return {say, speaksLast: mode === 'batch', rest};
}

// rest lets the timer of a batch run out that has gone because it was full. Later
// calls would go at its end, by an ordinary request, which a page that goes away at
// that moment does not finish.
const rest = () => new Promise((resolve) => setTimeout(resolve, flushAfter));

// become makes the call's user the one whom the page knows. Whatever a call is
// given, the SDK sends this one.
function become(analytics, {userId, anonymousId}) {
  analytics.reset();
  if (anonymousId) analytics.setAnonymousId(anonymousId);
  if (userId) analytics.user().id(userId);
}

const options = ({context, integrations, timestamp, messageId}) =>
  ({context, integrations, timestamp, messageId});

const calls = {
  identify: (a, c, o) => a.identify(c.userId, c.traits, o),
  track: (a, c, o) => a.track(c.event, c.properties, o),
  page: (a, c, o) => a.page(c.category, c.name, c.properties, o),
  screen: (a, c, o) => a.screen(c.category, c.name, c.properties, o),
  group: (a, c, o) => a.group(c.groupId, c.traits, o),
  alias: (a, c, o) => a.alias(c.userId, c.previousId, o),
};

const script = (src) => new Promise((resolve, reject) => {
  const element = Object.assign(document.createElement('script'), {src, onload: resolve});
  element.onerror = () => reject(new Error(`load ${src}`));
  document.head.append(element);
});
