// Package consoletest looks at the console as people do: in a real Chromium, at the product as
// it is shipped, after calls have come whose texts have broken pages elsewhere. It is a module
// of its own, so that what drives the browser is none of the product's requirements.
//
//	product   the product, its workspace, a receiver, and the calls
//	shop      another one, with names of every day
//	browser   the browser and its tabs; whatever a page does that it must not fails the test
//	page      what holds of every page: axe-core, narrow screens, the keyboard
//	console   the tests
//
// axe-core is installed from npm into .sdk/, once. With -screenshots DIR the pictures
// of the documents are drawn, of the shop.
package consoletest
