/** Finds the secrets of an environment, by the names that keys and passwords commonly have. */

const SECRET_NAME =
  /(?:^|_)(?:API_?KEY|KEY|KEYS|TOKEN|TOKENS|SECRET|SECRETS|PASSWORD|PASSWD|PASS|CREDENTIALS)$|^DATABASE_URL$|_SECRET_/i;
/** Values that also occur in other texts: numbers, switches, names. Marking them would hide text that is not secret. */
const COMMON = /^(?:\d+|[a-z]{1,12}|true|false|(?:~|\.{1,2})?\/[\w.@/ -]*)$/i;

export function secretValues(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && !COMMON.test(value) ? [value, ...passwordOf(value)] : [],
  );
}

/** The password in a URL, which programs may also receive by itself. */
function passwordOf(value: string): readonly string[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i.exec(value) ?? [];
  return password === undefined || COMMON.test(password) ? [] : [password];
}
