/* global SwaggerUIBundle */
// The validator badge would send our address to another site.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
