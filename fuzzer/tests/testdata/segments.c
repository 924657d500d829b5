// Leaves a shared memory segment behind in every run.
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>

int main(void) {
  int letter, letters = 0;
  while ((letter = getchar()) != EOF)
    letters += letter == 'a';
  return shmget(IPC_PRIVATE, 12345, IPC_CREAT | 0600) < 0 ? 7 : letters > 3;
}
