// Package wstopic keeps the workspace in the compacted topic `workspace`, one
// record per source and destination: [Publisher] writes what differs, [Read]
// reads the present state once, and [Follower] keeps a [workspace.Live] as the
// topic says.
//
// Write keys are kept as SHA-256 alone. Shared secrets and the values of static headers
// are sealed where there is a key (package wsseal), and only a process that delivers
// opens them. Without a key they are kept as they are: whoever can read the topic can
// read them, so the topic has to be protected with ACLs.
//
// Records about single users, deletion requests and who is suppressed, have the topic
// `regulations`, so that ingest, which faces the internet, need not be allowed to write to
// that of the workspace. A follower of its own ([NewRegulationsFollower]) hands them on.
// Earlier releases wrote them to the topic `workspace`, where they are still read: they are
// handed on to [FollowerSettings.Regulations] and are no part of a workspace, so no snapshot
// is made for them and no publisher is overtaken by them.
//
// # Non-obvious
//
//   - The id of a deleted audience or trait is refused for good, since destinations may
//     hold its values (TestADeletedIDIsNeverUsedAgain); so a file that lacks the whole
//     section, as one that was cut short, deletes none (TestASectionThatIsLeftOut).
//   - The topic carries interleaved transactions, so a marker ends only its own
//     producer's (TestAnEndInTheMidstOfAnotherTransaction).
//   - A record of a later version leaves in force what was: to deliver as before is safer
//     than to stop, or to obey half of it (TestFollowerKeepsTheLastGoodRecord). Nothing
//     older is written over it (TestNothingIsWrittenOverALaterVersion in wsrecord).
package wstopic
