int old_parse(const char *text);
