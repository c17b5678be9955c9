// Package front stands between an SDK and the product: a proxy that writes down
// each request as it came and answers the first ones with faults, of which the
// product never hears.
package front
