/** Something to change, and the line that changes it. */
export type Finding = Readonly<{
  rule:
    | "annotation-on-nodepool"
    | "annotation-value"
    | "window-without-base"
    | "window-never-opens"
    | "window-in-utc"
    | "expires-in-window"
    | "long-consolidate-after"
    | "when-empty-wastes"
    | "nobody-can-disrupt";
  object: string;
  problem: string;
  /** A command or lines of YAML. */
  change: string;
}>;
