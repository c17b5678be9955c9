// Package printed reads what `anabranch receive` prints, so that a receiver in a
// container keeps books with nothing added to it.
package printed
