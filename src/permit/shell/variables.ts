/** Which assignments of a text give a variable a value that holds wherever it is used after. */

/**
 * Nothing else in the text names it but `$name` and `${name}`: no loop, no `read`, no second assignment, no text in quotes
 * that could be evaluated. Names in capitals mean something to bash or to programs.
 */
export function isSetOnce(text: string, name: string): boolean {
  if (!/^[a-z_][a-z0-9_]*$/.test(name) || /\bIFS\b/.test(text)) return false;
  const uses = [...text.matchAll(new RegExp(`(?<!\\w)${name}(?!\\w)`, "g"))];
  const others = uses.filter(({ index }) => {
    const before = text.slice(Math.max(0, index - 2), index);
    const isBraced = before === "${" && text[index + name.length] === "}";
    return !(before.endsWith("$") || isBraced);
  });
  return others.length === 1;
}

/** Set by a loop, it changes nothing but text. */
export function isHarmlessName(name: string): boolean {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !/_proxy$/.test(name);
}
