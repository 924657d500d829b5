/* inventory: reads "name quantity price" lines and prints what is in stock. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 256
#define MAX_NAME 32

struct item {
    char name[MAX_NAME];
    int quantity;
    double price;
};

struct inventory {
    struct item items[MAX_ITEMS];
    int count;
};

static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static struct item *find(struct inventory *stock, const char *name)
{
    int i;

    for (i = 0; i < stock->count; i++) {
        if (strcmp(stock->items[i].name, name) == 0)
            return &stock->items[i];
    }
    return NULL;
}

static int add(struct inventory *stock, const char *name,
               int quantity, double price)
{
    struct item *item = find(stock, name);

    if (item != NULL) {
        item->quantity += quantity;
        item->price = price;
        return 0;
    }
    if (stock->count == MAX_ITEMS)
        return -1;
    item = &stock->items[stock->count++];
    strncpy(item->name, name, MAX_NAME - 1);
    item->name[MAX_NAME - 1] = '\0';
    item->quantity = quantity;
    item->price = price;
    return 0;
}

static int by_value(const void *left, const void *right)
{
    const struct item *a = left;
    const struct item *b = right;
    double difference = b->quantity * b->price - a->quantity * a->price;

    if (difference > 0)
        return 1;
    if (difference < 0)
        return -1;
    return strcmp(a->name, b->name);
}

static int read_stock(struct inventory *stock, FILE *file)
{
    char line[128];
    char name[MAX_NAME];
    int quantity;
    double price;
    int number = 0;

    while (fgets(line, sizeof line, file) != NULL) {
        char *text = trim(line);

        number++;
        if (*text == '\0' || *text == '#')
            continue;               /* blank or a comment */
        if (sscanf(text, "%31s %d %lf", name, &quantity, &price) != 3) {
            fprintf(stderr, "line %d: expected three columns\n", number);
            return -1;
        }
        if (quantity < 0 || price < 0) {
            fprintf(stderr, "line %d: less than nothing\n", number);
            return -1;
        }
        if (add(stock, name, quantity, price) != 0) {
            fprintf(stderr, "line %d: no room for more\n", number);
            return -1;
        }
    }
    return 0;
}

static void print_stock(const struct inventory *stock)
{
    double total = 0;
    int i;

    printf("%-31s %8s %10s\n", "name", "quantity", "value");
    for (i = 0; i < stock->count; i++) {
        const struct item *item = &stock->items[i];
        double value = item->quantity * item->price;

        printf("%-31s %8d %10.2f\n", item->name, item->quantity, value);
        total += value;
    }
    printf("%-31s %8s %10.2f\n", "total", "", total);
}

int main(int argc, char **argv)
{
    static struct inventory stock;
    FILE *file = stdin;
    int failed;

    if (argc > 2) {
        fprintf(stderr, "usage: %s [FILE]\n", argv[0]);
        return 2;
    }
    if (argc == 2) {
        file = fopen(argv[1], "r");
        if (file == NULL) {
            perror(argv[1]);
            return 1;
        }
    }
    failed = read_stock(&stock, file) != 0;
    if (file != stdin)
        fclose(file);
    if (failed)
        return 1;
    qsort(stock.items, stock.count, sizeof stock.items[0], by_value);
    print_stock(&stock);
    return 0;
}
