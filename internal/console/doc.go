// Package console is the pages below /console/ on the admin address, for people who would
// rather look than type. What they show is made by the packages behind the commands, so that
// neither says what the other does not; they change nothing that a command can't.
//
//	console     who is given what, and the addresses
//	page        the table of pages: a file and a template for each
//	render      the frame around a page
//	login       the form, and where it leads
//	assets      scripts and the stylesheet
//	asked       what pages ask in the background, and how they say so
//	brokers     the answers; calls those of the page Live, personas_brokers those of personas
//	destination one of them; endpoints, how its endpoints fare; answers, what they said
//	live        the newest calls, and one of them
//	stream      calls as they come, which static/live.js puts on the page
//	personas    audiences and computed traits; people, who is in them and why; edits, what
//	            they would change, and what is told once more; growth, their size over time
//	workspace   what is in force; workspaceplan, what a file would change, and its application
//	            (workspacehistory: who put what in force when)
//	violations  how often which rule of a tracking plan was violated
//	internal/   door, who may look and act; asking, one question for all who want to know;
//	            tail, calls as they come, for all who follow them; jobs, what was begun
//
// A page is a function from a request to its view, a struct of texts and numbers that a pure
// function makes of an answer, and that its template shows. Templates know nothing else: no
// counting, no comparing. A page whose answer is not there yet says what is being done and
// comes back, with script and without (content.again).
//
// Scripts and styles are files alone, for the policy allows nothing inline, and templates are
// indented by spaces: a tab would be shown (TestTemplates).
//
// # Non-obvious
//
//   - What a caller sent may hold characters that no reader sees, and that turn the text
//     around them. The whole page is written through terminal.AppendPrintable, so no template
//     can forget it (TestNaughtyStrings).
//   - In the path of a link html/template leaves a slash and a question mark as they are, so
//     whatever a caller controls is in the query (TestNaughtyStrings).
//   - Go's server counts its bound on reading a request up to the end of the answer, and ends
//     the request's context then: a stream without a bound of its own would be over after 15
//     seconds (TestATail).
//   - Who pauses a page may do so while it fetches itself: the answer must not take its place
//     (TestPauseOfAPageThatFetchesItself in test/consoletest).
//   - What is unseen in a table that scrolls is positioned, and made the page as wide as the
//     table until the table was what it is positioned in (TestEveryPage in test/consoletest).
//   - A page that fetches itself is told to be loaded again when the session is over; a
//     redirect would show the login in its midst (TestASessionThatEnds).
package console
