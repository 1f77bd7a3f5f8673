// Imported first: uses only syntax that old versions of Node can parse, unlike the modules after it.
const least = [22, 18];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < least[0] || (major === least[0] && minor < least[1])) {
  process.stderr.write(
    `Node ${least.join(".")} or newer is needed, this is ${process.versions.node}; npm scripts find the one that npm ci installed\n`,
  );
  process.exit(1);
}
