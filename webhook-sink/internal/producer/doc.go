// Package producer writes records and waits for their acknowledgement, through
// topics that go missing or are made anew.
package producer
