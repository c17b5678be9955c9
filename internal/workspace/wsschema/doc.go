// Package wsschema describes the workspace file to editors, as a JSON Schema, and to
// people, as a reference. Both are made of the declaration that the file is read by.
//
// The schema is of draft-07, which every editor's YAML server understands. It allows
// all that package wsfile accepts, and refuses of the rest what a schema can say; a
// test holds it to the mistakes that wsfile finds. What only wsfile knows: whether ids,
// write keys, URLs and header names differ, which sources there are, how many bytes a
// text has, and where references to secrets lead.
//
// Non-obvious: a text may be written as a number or a truth value, but what a schema
// says of strings is not asked of those. A pattern holds for RE2 and ECMAScript alike.
package wsschema
