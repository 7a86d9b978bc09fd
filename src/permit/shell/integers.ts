/** Variables that hold nothing but a literal integer in a text: arithmetic over them starts nothing. */

const ASSIGNED = /(?<![\w$])([A-Za-z_]\w*)([-+*/%]?=)(?!=)\s*([^\s;&|()]*)/g;
const SETS_OTHERWISE =
  /\b(?:for|select|read|mapfile|readarray|getopts|declare|typeset|local|export|readonly|let|eval|source|trap|printf|wait|coproc|exec)\b|(?:^|[\s;&|(])\.\s/;

export function integersIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const others = new Set<string>();
  if (SETS_OTHERWISE.test(text.replace(/\bfor\s*\(\(/g, "(("))) return found;
  for (const [, name = "", , value = ""] of text.matchAll(ASSIGNED))
    (/^-?(?:0|[1-9]\d{0,17})$/.test(value) ? found : others).add(name);
  return new Set([...found].filter((name) => !others.has(name)));
}
