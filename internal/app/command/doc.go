// Package command is what a person types behind `anabranch`: what a command is, how its
// line is read and what help says of it, and the commands that end by themselves.
//
// # Non-obvious
//
//   - The receiver's /healthz uses no ServeMux, which would redirect a delivery to a path
//     with two slashes (TestAnswersHealthz).
package command
