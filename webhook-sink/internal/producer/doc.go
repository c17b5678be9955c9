// Package producer writes records and waits for their acknowledgement, through
// topics that go missing or are made anew.
//
// Brokers look at the size of a batch, and refuse all of its records with it. Which of
// them is too large is known only of one that was refused alone: on topics with a small
// limit hundreds of events would become dead letters that would have passed by
// themselves (TestWhatIsTooLargeIsFoundAlone).
package producer
