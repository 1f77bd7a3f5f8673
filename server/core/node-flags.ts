/** For every process of ours that is not a copy of its parent: Node reads TypeScript, and says nothing of it. */
export const nodeFlags = ["--disable-warning=ExperimentalWarning"];
