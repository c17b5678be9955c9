// Package wsrecord turns workspaces into records of the topic `workspace` and
// back. It knows bytes and keys, and nothing of brokers.
//
// The topic holds one record per source, destination, audience and trait, in its partition 0:
//
//	source/website   {"name":"Website","writeKeySHA256":"d2a8…","enabled":true,
//	                  "trackingPlan":{"action":"block","events":{"Signed Up":{"properties":{"plan":{"type":"string","required":true}}}}}}
//	destination/crm  {"type":"webhooks","name":"CRM","sources":["website"],"enabled":true,
//	                  "sharedSecret":"…","endpoints":[{"url":"https://…","headers":[{"name":"X-Team","value":"…"}]}]}
//	audience/big_spenders  {"revision":3,"definition":{"id":"big_spenders","when":{…},…},
//	                        "earlier":[{"revision":2,"at":"2026-11-21T08:30:00Z","definition":{…}},…]}
//	trait/orders_30d       {"revision":1,"definition":{"id":"orders_30d","take":"count",…}}
//	identity/settings      {"anonymousIds":{"max":100,"per":"7d"}}
//	workspace/applied {"applications":[{"at":"2026-11-21T08:30:00Z","by":"ada","changes":[
//	                    {"op":"~","kind":"destination","id":"crm","fields":["endpoints"]}]},…]}
//	pause/crm         {"by":"ada","since":"2026-11-21T03:12:00Z"}
//
// A pause is there while nothing is sent to its destination, and goes with it. No file says
// anything of it, so that no file that is applied ends it.
//
// The revision of a definition grows by one with each change. The topic keeps the last
// record of a key alone, so that tells the earlier versions too: up to nineteen of them, with
// when each was applied, as far as they take 256 KiB together (TestEarlierVersions in wstopic).
// A definition that is deleted stays, with "deleted":true, so that its id is never used again. What it says is read whole or
// not at all, unlike the members of others.
//
// A record without value removes what its key names. workspace/applied is
// written with the first workspace that people apply and never removed: it
// tells a workspace in which nothing is left from one that was never there. Its
// applications are the last that changed something, up to 50 and 128 KiB, the last one at
// the end, each with up to 100 of its changes ("more" counts the others): which keys of the
// file differed, and no values. Earlier releases wrote {} and read nothing of it; what they
// apply is missing there, and so is who did it (TestAnApplicationOfAnEarlierRelease).
// Members that a reader does not know are ignored, so that versions can run
// side by side during an upgrade, and kept when it writes the record again: a later
// release goes by them (TestUnknownMembersAreKept). An endpoint takes its own along by
// its URL, wherever it stands in the list. A change that an earlier release would misread
// needs a member "version" above the last (absent, it is 1): releases that do not
// understand it keep what was in force for the key.
//
// Version 2 is of records with a sealed secret, which is an object in place of a text:
//
//	{"version":2,…,"sharedSecret":{"sealed":"aes256gcm.…"},…}
//
// A record whose secrets are all in the clear is of version 1, for earlier releases.
package wsrecord
