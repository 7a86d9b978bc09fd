/** Where Ollama is, from the caller's environment. */

/** The environment variables that an instance depends on. */
export const OLLAMA_ENV = ["OLLAMA_HOST", "OLLAMA_MODEL"] as const;

/**
 * `OLLAMA_HOST` as Ollama reads it: scheme and port may be missing; 0.0.0.0 is an address to listen on, so connect to
 * 127.0.0.1 instead. undefined: not a URL.
 */
export function findOllamaOrigin(host: string | undefined): string | undefined {
  const text = host?.trim() ?? "";
  if (text === "") return "http://127.0.0.1:11434";
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (url === null) return undefined;
  const hasPort = url.port !== "" || /^https?:/.test(text);
  const hostname = url.hostname === "0.0.0.0" ? "127.0.0.1" : url.hostname;
  const port = url.port !== "" ? `:${url.port}` : hasPort ? "" : ":11434";
  return `${url.protocol}//${hostname}${port}${url.pathname.replace(/\/+$/, "")}`;
}
