// Package testkit gives tests a Kafka cluster of their own and a webhook
// receiver that keeps books, and reads what registries count. It is for _test.go files
// only.
//
// Which cluster a test gets is decided by the environment, so that the same
// tests run everywhere:
//
//   - By default each test has a new in-process fake ([kfake]).
//   - KAFKA_BROKERS=host:port names a real broker.
//   - ANABRANCH_TEST_BROKER=redpanda starts Redpanda in Docker, once per test
//     binary, and skips with a reason where no Docker engine answers.
//
// A real broker is shared, while the product's topics and groups have fixed
// names. So a test there holds a lock that reaches across processes for as long
// as it runs, and begins by deleting all that an earlier one left: tests on a
// real broker run one at a time, t.Parallel or not. Run them with "go test -p 1",
// or packages spend their time limit waiting for one another. Subtests of one that
// has called Brokers are not parallel: they would wait for a turn that the tests have
// which wait for the broker (TestNoSubtestWaitsForItsOwnBroker).
//
// Deleting is the reason for a guard: a broker that holds the product's topics
// is only wiped when it also holds the topic [Marker], which testkit creates on
// a broker that it finds without any. KAFKA_BROKERS is the product's own
// setting, and a shell that still points at production must not cost its data.
package testkit
