// Package kafka is the seam between the stages and a Kafka-protocol broker:
// the client options that every client shares, the topics with the policy that
// belongs to each name, and the translation between records and the
// vocabulary of package schemas.
//
// It does not wrap the client. A stage holds a *kgo.Client or a
// *kgo.GroupTransactSession of its own and passes *kgo.Record values around;
// a test puts a broker in place of the broker, not a fake in place of the
// client.
package kafka
