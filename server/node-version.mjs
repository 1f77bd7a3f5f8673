// Plain enough for any Node of the last ten years that reads modules: what follows it may not be.
const least = [22, 18];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < least[0] || (major === least[0] && minor < least[1])) {
  process.stderr.write(
    `Node ${least.join(".")} or newer is needed, this is ${process.versions.node}; npm scripts find the one that npm ci installed\n`,
  );
  process.exit(1);
}
