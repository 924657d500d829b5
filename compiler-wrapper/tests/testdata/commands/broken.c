/* For the diagnostics: a warning and an error. */
int broken(void) {
  int unused;
  return missing;
}
