// Package doctor looks for what keeps the pipeline from working, before or after
// it does: brokers that can't be reached under the address they advertise, a
// version that is too old, permissions, topics, groups, clocks, limits of the
// machine, and a workspace that can't deliver.
//
// Each check is two things: a look, which gathers facts and has a bound in time,
// and a judgement, a pure function from facts to findings. [Examine] makes all
// checks and [Table] and [JSON] print what they found. Nothing is changed.
//
// # Non-obvious
//
//   - The embedded broker of another process looks like a Kafka whose topics are all wrong,
//     and to compact one of them there is to lose it at the next kill. So the brokers are
//     asked what they are, whatever the settings say (TestDoctorBesideAProcess in
//     internal/app).
//   - With the brokers' defaults nothing is a warning: one that everybody has and nobody
//     can act on hides the others. Offsets that brokers delete before raw-events cost a
//     router nothing while it has a copy of its own (TestJudgeOffsets,
//     TestACopyOfTheOffsets).
//   - A new cluster creates its topic of offsets when it is first asked about a group,
//     and refuses all such questions until then: that is waited for
//     (TestANewClusterHasNoCoordinatorAtFirst).
//   - Brokers refuse ApiVersions from a client without a software name, with an answer
//     that lists nothing, so the requests that are made by hand bear one. No test holds
//     this.
package doctor
