/** `find`, where it only looks: places, and predicates that are known to start and write nothing. */

import { wordList as words } from "../tables.ts";
import { mayBeFlag, type Word } from "../word.ts";
import { operandsOf, type ReadOperand } from "./grammar.ts";

const FIND_PLAIN = new Set(
  words(
    `-print -print0 -ls -depth -d -daystart -mount -xdev -follow -noleaf -prune -quit -empty -true -false -readable -writable
     -executable -nouser -nogroup -not -and -or -a -o ! ( ) , -H -L -P`,
  ),
);
const FIND_VALUED = new Set(
  words(
    `-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -atime -ctime -mmin
     -amin -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -regextype -newer -anewer -cnewer -newermt -samefile -fstype`,
  ),
);

/** Its places, then listed predicates. */
export function readsOfFind(args: readonly Word[]): readonly ReadOperand[] | null {
  const at = args.findIndex(({ text }) => text !== null && (FIND_PLAIN.has(text) || text.startsWith("-")));
  const places = at < 0 ? args : args.slice(0, at);
  const rest = at < 0 ? [] : args.slice(at);
  if (places.some(isOddPlace) || !readsPredicates(rest)) return null;
  return places.length === 0
    ? [{ path: ".", subtree: true }]
    : places.flatMap((word) => operandsOf(word, true));
}

function isOddPlace(word: Word): boolean {
  if (word.text !== null) return false;
  return (
    word.among === undefined || mayBeFlag(word) || word.among.some(({ text }) => /^[(!,*?[]|^$/.test(text))
  );
}

/** `-exec … ;` runs what is judged as a command of its own. */
function readsPredicates(args: readonly Word[]): boolean {
  for (let i = 0; i < args.length; i++) {
    const { text } = args[i] as Word;
    if (text === null) return false;
    if (text === "-exec") {
      i += 1 + args.slice(i + 1).findIndex((word) => word.text === ";" || word.text === "+");
      if (args[i]?.text === "-exec") return false;
    } else if (FIND_VALUED.has(text)) {
      const value = args[++i];
      if (value === undefined || (value.isMany && !isFileName(value))) return false;
    } else if (!FIND_PLAIN.has(text)) return false;
  }
  return true;
}

/** `-name *.ts` without quotes: what it comes to is no predicate. */
function isFileName({ among = [] }: Word): boolean {
  return (
    among.length > 0 && among.every(({ kind, text }) => kind === "glob" && /^[\w./]*\*\.\w+$/.test(text))
  );
}
