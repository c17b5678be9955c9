// RudderStack's JavaScript SDK, in bundles that load nothing later.
const packages = {
  '@rudderstack/analytics-js': {
    file: 'dist/npm/modern/bundled/esm/index.mjs',
    api: (module) => new module.RudderAnalytics(),
  },
  'rudder-sdk-js': {
    file: 'dist/npm/index.es.js',
    api: (module) => module,
  },
};

export async function open(job) {
  const {sdk, mode, tag, settled} = job;
  const {file, api} = packages[sdk];
  const rudder = api(await import(`/sdk/node_modules/${sdk}/${file}`));
  const beacon = tag.includes('beacon');
  let onLoaded;
  const loaded = new Promise((resolve) => { onLoaded = resolve; });
  const ways = {
    useBeacon: beacon,
    // Batches of ten, as they are anyway, but not after ten minutes or one.
    beaconQueueOptions: {flushQueueInterval: 200},
    queueOptions: mode !== 'each' ? {batch: {enabled: true, flushInterval: 200}} : {},
  };
  // snippet:begin
  rudder.load(job.writeKey, job.endpoint, {
    configUrl: job.endpoint,
    onLoaded, ...ways, // test only
  });
  // snippet:end
  await loaded;
  let known = '';
  let made = 0;
  const say = async (call) => {
    const user = call.userId ?? '';
    if (user !== known || user === '') become(rudder, call);
    known = user;
    calls[call.type](rudder, call, options(call));
    // A browser takes 64 KiB of beacons at a time, and the SDK drops what it refuses.
    if (++made % 10 === 0 && beacon) await settled(made);
  };
  // Without beacons, the SDK keeps what is left for the next page.
  return {say, speaksLast: beacon};
}

// become makes the call's user the one whom the page knows, for which there is no
// way but an identify. Its integrations map keeps it from every webhook.
function become(rudder, {type, userId}) {
  rudder.reset(true);
  if (userId && type !== 'identify' && type !== 'alias') rudder.identify(userId, {}, {integrations: {All: false}});
}

const options = ({context, integrations, timestamp, anonymousId}) =>
  drop({context, integrations, originalTimestamp: timestamp, anonymousId});

// The SDK takes a member that is there and undefined for one that was given.
const drop = (object) => JSON.parse(JSON.stringify(object));

const calls = {
  identify: (r, c, o) => (c.userId ? r.identify(c.userId, c.traits, o) : r.identify(c.traits, o)),
  track: (r, c, o) => r.track(c.event, c.properties, o),
  page: (r, c, o) => (c.category ? r.page(c.category, c.name, c.properties, o) : r.page(c.name, c.properties, o)),
  group: (r, c, o) => r.group(c.groupId, c.traits, o),
  alias: (r, c, o) => r.alias(c.userId, c.previousId, o),
};
