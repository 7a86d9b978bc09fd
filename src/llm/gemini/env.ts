/** The environment variables that an instance depends on. */
export const GEMINI_ENV = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_BASE_URL", "GEMINI_MODEL"] as const;
