// Package asking asks brokers in the background what many people want to know, once for all
// of them. A page that shows the answer never waits long: it gets what is known by now, and
// comes back.
//
// # Non-obvious
//
//   - A question that takes long would be asked without a pause by a page that refreshes: an
//     answer stays fresh for several times as long as it took (TestALongQuestionIsAskedSeldom).
//   - Who asked may have left: a question that nobody has come back for is given up
//     (TestNobodyComesBack).
package asking
