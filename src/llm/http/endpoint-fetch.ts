/** The fetch for a vendor's SDK: it controls what is sent, whatever the SDK and the daemon's environment add. */
import { VERSION } from "../version.ts";

/** Headers that an SDK may set; others (its name and platform, custom ones from the environment) are dropped. */
const kept = new Set(["accept", "content-type", "anthropic-version"]);

/** `credential` is the one authentication header. Redirects are not followed: they would carry the key elsewhere. */
export function endpointFetch(credential: Readonly<Record<string, string>>): typeof fetch {
  return (input, init) => {
    const headers = new Headers({ ...credential, "user-agent": `crux/${VERSION}` });
    for (const [name, value] of new Headers(init?.headers)) if (kept.has(name)) headers.set(name, value);
    return fetch(input, { ...init, headers, redirect: "manual" });
  };
}

/** A base URL from the environment, or `fallback` if unset. undefined: not an http(s) URL. */
export function findBaseUrl(value: string | undefined, fallback: string): string | undefined {
  if (value === undefined || value.trim() === "") return fallback;
  const url = URL.parse(value.trim());
  return url !== null && /^https?:$/.test(url.protocol) ? value.trim().replace(/\/+$/, "") : undefined;
}
