export type Verdict = "ok" | "warning" | "problem";

/** What one check found. */
export interface Finding {
  check: string;
  verdict: Verdict;
  /** One line. */
  found: string;
  /** What to do, in one line; empty where all is well. */
  todo: string;
}

/** Something to say, and what to do about it. */
type Fault = Pick<Finding, "found" | "todo"> & { verdict?: Verdict };

/** A finding of the check: the fault, by default a problem, or else that all is well. */
export function finding(check: string, fault: Fault | null | false, well: string): Finding {
  if (!fault) return { check, verdict: "ok", found: well, todo: "" };
  return { check, verdict: "problem", ...fault };
}

/** The same with a fault that players hardly notice, or that may be meant. */
export const advice = (
  check: string,
  fault: Omit<Fault, "verdict"> | null | false,
  well: string,
): Finding => finding(check, fault && { ...fault, verdict: "warning" }, well);
