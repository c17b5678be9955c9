// Package docstest has no code. Its tests hold the documents to the product: every link resolves, every command, setting
// and make target that a page shows exists, what the first page tells a newcomer to type works, and the samples that
// verify signatures verify real deliveries. The file map of DESIGN.md has every package, and each test that it or a comment
// names exists.
//
// TestTexts is for people: with -v it prints every text that a user of the product may meet.
//
//	go test -run TestTexts -v ./test/docstest
package docstest
