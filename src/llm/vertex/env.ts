/** The environment variables that an instance depends on. */
export const VERTEX_ENV = [
  "ANTHROPIC_VERTEX_PROJECT_ID",
  "CLOUD_ML_REGION",
  "VERTEX_BASE_URL",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "HOME",
] as const;
