// Package rows takes the files of an import apart into rows, each the JSON of one call.
// It judges no call; that is the business of the same rules that HTTP has.
//
//	files    which files an import is, what they have as a digest, and their bytes
//	lines    lines of any length, in bounded memory
//	format   NDJSON, and the archives of Anabranch, Segment and RudderStack
//	csv      records of separated values
//	mapping  which column becomes which member; mistakes with file, line and path
//	cell     one column as JSON
//
// A new format is one more [Format] and a function that hands out rows.
//
// # Non-obvious
//
//   - A file is what its first bytes say, not its name: archives are often copied under
//     another one (TestFilesAreWhatTheyHold).
//   - A quote that is never closed makes a record of the rest of the file. So a record is
//     bounded as a line is, and what is longer is a row that is refused
//     (TestAQuoteThatIsNeverClosed).
//   - What is ambiguous was taken for something without a word: of two columns of one name the
//     last, a column of the rest in place of a member, a byte of Latin-1 for U+FFFD, and a
//     file whose lines end in CR alone for a header without rows (TestExportsThatAreAmbiguous,
//     TestWhatIsNotUTF8).
//   - Two rows of RudderStack may stand in one line, so a row is not a line
//     (TestRudderRows).
package rows
