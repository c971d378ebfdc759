// Package docs holds those pages of the documentation that the program carries
// with it.
//
// Lives here: docs/openapi.yaml as bytes. May import: embed. Never: anything else.
package docs

import _ "embed"

// OpenAPI describes the control API.
//
//go:embed openapi.yaml
var OpenAPI []byte
