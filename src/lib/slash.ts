/** A line that the user begins with `/`: the name of a command or skill, then its arguments. */
interface SlashLine {
  readonly name: string;
  readonly args: string;
}

/** undefined: it is text. `//` and words with another slash, such as paths, are text. */
export function slashLine(text: string): SlashLine | undefined {
  const [, name, args = ""] =
    /^\/([A-Za-z0-9][A-Za-z0-9_.:-]{0,127})(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}
