/**
 * Rules that hold until the user's own settings drop them. They are defaults, not policy, but no project or agent file
 * can drop them.
 */
import type { RuleText } from "../../abi/rules.ts";

const DENIED: readonly { programs: string; instead: string }[] = [
  { programs: "curl wget httpie aria2c axel", instead: "" },
  { programs: "chrome firefox safari lynx links", instead: "" },
  { programs: "vim emacs nano vi", instead: "Use the edit tool" },
  { programs: "less more", instead: "Use the view tool" },
  { programs: "sudo su doas pkexec", instead: "" },
  { programs: "passwd useradd usermod userdel", instead: "" },
  { programs: "nmap netcat nc ncat", instead: "" },
];

export const SHIPPED_RULES: readonly RuleText[] = [
  ...DENIED.flatMap(({ programs }) =>
    programs
      .split(" ")
      .map((name): RuleText => ({ source: "shipped", behavior: "deny", text: `bash(${name}:*)` })),
  ),
  { source: "shipped", behavior: "ask", text: "bash(rm:*)" },
];

/** The refusal that the model reads, with the tool to use instead. */
export function shippedRefusal(program: string): string {
  const { instead = "" } = DENIED.find(({ programs }) => programs.split(" ").includes(program)) ?? {};
  const text = `Command '${program}' is not allowed for security reasons`;
  return instead === "" ? text : `${text}. ${instead}`;
}
