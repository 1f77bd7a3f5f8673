/** Global of `swagger-ui-bundle.js`, which the page loads first. */
declare function SwaggerUIBundle(options: Readonly<Record<string, unknown>>): void;

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  defaultModelsExpandDepth: 0,
  // The validator badge would send our address to another site.
  validatorUrl: null,
});
