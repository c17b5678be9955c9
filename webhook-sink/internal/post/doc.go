// Package post makes one POST to one endpoint and says how it ended.
//
// It never follows a redirect, never asks a proxy, never decompresses, and never
// repeats a request of which a single byte may have left the machine: trying
// again is for the caller, who keeps count. The status line alone decides the
// verdict; what comes after it is read within narrow limits, so that the
// connection can be used again, and then forgotten.
//
// Endpoints are spoken to over HTTP/1.1, by package http1. One that refuses that
// protocol in its TLS handshake gets the same attempt over HTTP/2, by net/http, and
// those that follow within the hour.
//
// # Files
//
//	client, dial           what both ways to an endpoint share
//	http2, meter           the second, and what may be read on it
//	target                 an endpoint made ready for requests
//	status, retryafter     what a response means
//	failure, certificate   what the lack of one means
//	sign                   X-Signature
package post
