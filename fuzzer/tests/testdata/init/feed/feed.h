int feed_open(const char *path, const void **feed_handle);
int feed_close(const void *feed_handle);
int feed_parse(const void *feed_handle, void *user);
struct names;
struct names *names_create(char *, int);
int names_loop(struct names *);
void names_free(struct names *);
