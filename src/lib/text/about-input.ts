/**
 * What a call is about: the first argument that is a text, a path, a command, a pattern. Of a text of JSON that is cut, what of it
 * is there.
 */
export function aboutInput(input: unknown): string {
  if (typeof input === "string") return /:\s*"((?:[^"\\]|\\.)*)/.exec(input)?.[1] ?? "";
  const { subagent_type: type, description, prompt } = (input ?? {}) as Readonly<Record<string, unknown>>;
  // of a call of agent, also of one with a name, as its tool says it at the end
  if (typeof description === "string" && typeof type === "string")
    return `${type.toLowerCase()}: ${description}`;
  if (typeof description === "string" && typeof prompt === "string") return description;
  return firstText(input)?.split("\n", 1)[0] ?? "";
}

/** What stands beside others comes before what stands in them: of a question its words, not its options. */
function firstText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return undefined;
  const all: unknown[] = Object.values(value);
  const [text] = all.filter((each) => typeof each === "string");
  return text ?? all.map(firstText).find((each) => each !== undefined);
}
